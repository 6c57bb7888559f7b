# Layer normalisation: liblayernorm.so.
all: $(O)/liblayernorm.so
LAYERNORM_HEADERS := $(COMMON_HEADERS) fw_layernorm.h $(wildcard layernorm/*.h)

ifeq ($(DEVICE),cpu)
$(O)/liblayernorm.so: $(O)/layernorm/module.o $(O)/layernorm/cpu.o
	$(CC) -shared -Wl,-z,relro,-z,now,--build-id=none -fopenmp -o $@ $^ -lm
else
$(O)/liblayernorm.so: $(O)/layernorm/module.o $(O)/layernorm/cuda.cu.o
	$(NVCC) -shared -cudart static -Xlinker --build-id=none -o $@ $^ -ldl
$(O)/layernorm/cuda.cu.o: layernorm/cuda.cu $(LAYERNORM_HEADERS)
	@mkdir -p $(@D)
	$(NVCC) $(NVCCFLAGS) -c -o $@ $<
endif
$(O)/layernorm/%.o: layernorm/%.c $(LAYERNORM_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(if $(filter cuda,$(DEVICE)),-DLAYERNORM_CUDA) -c -o $@ $<
